from chatiere.engine.core.position import OperationTable

OPERATIONS: OperationTable
