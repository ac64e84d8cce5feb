#pragma once

namespace gert {
class OpExecuteContext;
class OpExecutePrepareContext;
class OpExecuteLaunchContext;
}  // namespace gert
