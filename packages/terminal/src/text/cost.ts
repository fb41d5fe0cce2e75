/** `$0.0123`, `$1.20`, `≈ $0.0123` for an estimate: at least two significant digits, also of small amounts. */
export function formatCost(dollars: number, isEstimate = false): string {
  const mark = isEstimate ? "≈ " : "";
  if (dollars === 0) return `${mark}$0`;
  const digits = dollars >= 1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(dollars)));
  return `${mark}$${dollars.toFixed(digits)}`;
}
