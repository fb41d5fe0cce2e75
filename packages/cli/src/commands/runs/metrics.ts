import type { RunAccess, RunEngine } from "@agent/durable";

const HOUR_MS = 3_600_000;

/** The runs as metrics for Prometheus. `engine` is absent where only the runs of one tenant may be seen. */
export async function metricsText(runs: RunAccess, engine: RunEngine | undefined): Promise<string> {
  const [counts, [hour]] = await Promise.all([runs.count(), runs.activity(Date.now() - HOUR_MS, HOUR_MS)]);
  const lines = [
    ...gauge("agent_runs", "Runs by state.", labelled("state", counts)),
    ...gauge(
      "agent_runs_ended_last_hour",
      "Runs that ended within the last hour.",
      labelled("state", {
        done: hour?.done ?? 0,
        failed: hour?.failed ?? 0,
        cancelled: hour?.cancelled ?? 0,
      }),
    ),
    ...gauge("agent_runs_cost_dollars_last_hour", "What those have cost.", [["", hour?.cost ?? 0]]),
    ...gauge(
      "agent_runs_queue_wait_seconds",
      "How long runs waited for a worker, on average of the last hour.",
      [["", (hour?.averageWaitMs ?? 0) / 1000]],
    ),
  ];
  if (!engine) return `${lines.join("\n")}\n`;
  const [workers, paused, rates] = await Promise.all([
    engine.workers(),
    engine.getPaused(),
    engine.getRates(),
  ]);
  const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
  lines.push(
    ...gauge("agent_runs_workers", "Workers that gave a sign of life lately.", [["", workers.length]]),
    ...gauge("agent_runs_worker_slots", "How many runs the workers can have.", [
      ["", sum(workers.map(({ concurrency }) => concurrency))],
    ]),
    ...gauge("agent_runs_paused", "Tenants whose runs are paused; * for all.", [["", paused.length]]),
    ...gauge("agent_runs_model_calls_per_minute_limit", "Limits on model calls.", labelled("target", rates)),
  );
  return `${lines.join("\n")}\n`;
}

type Sample = readonly [labels: string, value: number];

function gauge(name: string, help: string, samples: readonly Sample[]): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
  ];
}

function labelled(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => {
    const escaped = name.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
    return [`{${label}="${escaped}"}`, value];
  });
}
