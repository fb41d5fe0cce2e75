// The quantile of the normal distribution for 95 %.
const Z = 1.96;

/** The 95 % Wilson interval for a share of successes: the range of the true share after few runs. */
export function wilsonInterval(passed: number, runs: number): readonly [low: number, high: number] {
  if (runs === 0) return [0, 1];
  const share = passed / runs;
  const spread = Z ** 2 / runs;
  const middle = share + spread / 2;
  const half = Z * Math.sqrt((share * (1 - share) + spread / 4) / runs);
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  return [clamp((middle - half) / (1 + spread)), clamp((middle + half) / (1 + spread))];
}
