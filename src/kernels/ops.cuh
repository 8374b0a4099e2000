// ops
