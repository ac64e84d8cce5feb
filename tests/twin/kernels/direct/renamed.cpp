// A source that includes its kernel and gives it another name.
#define twice_custom(...) twice_float(__VA_ARGS__)
#include "guarded.cpp"
