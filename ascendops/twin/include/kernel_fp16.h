// Of the CPU debug library; everything comes with kernel_operator.h.
#pragma once
