// Ways to measure two things side by side. They take turns, so that noise of the machine affects both equally.

/** Wall time of `work` in milliseconds. */
export async function wallTime(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** CPU time that this process spends in `work`, in microseconds. */
export async function cpuTime(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * Runs `ours` and `theirs` in turn, each first in every other round, and returns the ratios of all pairs together
 * with the times. The first `warmUp` rounds fill caches and compile, and do not count.
 */
export async function comparePairs({ rounds, warmUp = 1, ours, theirs, measure = wallTime }) {
  const result = { ratios: [], ours: [], theirs: [] };
  for (let round = -warmUp; round < rounds; round++) {
    const isOursFirst = round % 2 === 0;
    const first = await measure(isOursFirst ? ours : theirs);
    const second = await measure(isOursFirst ? theirs : ours);
    if (round < 0) continue;
    const [own, other] = isOursFirst ? [first, second] : [second, first];
    result.ours.push(own);
    result.theirs.push(other);
    result.ratios.push(own / other);
  }
  return result;
}
