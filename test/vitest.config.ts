import { packageTests } from "../vitest.base.ts";

// Installing takes as long as the registry does.
export default packageTests({ include: ["*.test.ts"], testTimeout: 300_000, hookTimeout: 300_000 });
