"""Where the time goes: a torch.profiler trace from the GPU, joined to the findings."""
