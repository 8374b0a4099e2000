// libtreadle.so is made of the static libraries of the folders; this file only gives the target a
// source.
