#include "tools/commands.h"

int main(int count, char** arguments) { return ort_train::tools::run({arguments + 1, arguments + count}); }
