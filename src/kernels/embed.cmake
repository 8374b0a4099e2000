# Writes OUTPUT: a C++ file that holds the text of the kernel headers FILES, in order.
set(text "// Generated from src/kernels/*.cuh.\n#include \"fuse/kernels_text.h\"\n\nnamespace td::fuse {\n\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(APPEND text "const char kText_${name}[] = R\"~td~(${content})~td~\";\n\n")
endforeach()
string(APPEND text "}  // namespace td::fuse\n")
file(WRITE ${OUTPUT} "${text}")
