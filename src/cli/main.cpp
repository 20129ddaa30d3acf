// The program `nearfar`. Everything it does is in program.cpp and in one file for each command.
#include "cli/program.h"

int main(int argc, char** argv) { return nearfar::run_program({argv + 1, argv + argc}); }
