// Filled in with the layers as they come.
export {};
