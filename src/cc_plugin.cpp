// libtreadle_cc.so is made of treadle_simt and treadle_clang; this file only gives the target a
// source.
