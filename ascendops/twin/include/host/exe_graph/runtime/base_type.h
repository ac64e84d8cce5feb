#pragma once

typedef unsigned int UINT32;
