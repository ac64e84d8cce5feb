// Host side of a launch with CPU debugging; the twin launches kernels itself.
#pragma once
