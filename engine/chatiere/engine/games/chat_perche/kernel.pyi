from chatiere.engine.core.position import Kernel

OPERATIONS: Kernel
