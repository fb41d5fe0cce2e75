export const packName = "@agent/tools-search";
export const packApiVersion = 1;
