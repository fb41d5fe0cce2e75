export type PolicyRule = string;
