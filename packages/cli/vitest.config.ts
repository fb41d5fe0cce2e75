import { packageTests } from "../../vitest.base.ts";

// Most of these tests wait for a program they started: on two cores, one file at a time would leave one idle.
export default packageTests({ maxWorkers: 2 });
