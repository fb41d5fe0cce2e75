import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { HostSession, ModeChoice, SessionChoices } from "./host.js";
import { invalidParams } from "./requestErrors.js";

type OptionId = "mode" | "model" | "effort";

/** The settings of a session: the model, its effort, and the mode for editors that know only config options. */
export class ConfigOptions {
  readonly #host: HostSession;
  readonly #modes: ModeChoice;
  #listed: readonly string[] = [];

  constructor(host: HostSession, modes: ModeChoice) {
    this.#host = host;
    this.#modes = modes;
  }

  get modeState(): SessionModeState {
    const { current, available } = this.#modes;
    return { currentModeId: current, availableModes: available.map((mode) => ({ ...mode })) };
  }

  /** The current choices. */
  get choices(): SessionChoices {
    const { model, effort } = this.#host;
    return {
      mode: this.#modes.current,
      ...(model && { model: model.current }),
      ...(effort && { effort: effort.current }),
    };
  }

  list(): SessionConfigOption[] {
    const { current, available } = this.#modes;
    const { model } = this.#host;
    const efforts = this.#efforts();
    const plain = (values: readonly string[]) => values.map((value) => ({ value, name: value }));
    return [
      ...(model ? [select("model", "Model", "model", model.current, plain(this.#models()))] : []),
      ...(efforts.length > 0
        ? [select("effort", "Effort", "thought_level", this.#host.effort?.current ?? "", plain(efforts))]
        : []),
      select(
        "mode",
        "Mode",
        "mode",
        current,
        available.map(({ id, name, description }) => ({ value: id, name, description })),
      ),
    ];
  }

  /** Throws for an unknown option or value. Resolves to the option that was set. */
  async set(id: string, value: unknown): Promise<OptionId> {
    const { model, effort } = this.#host;
    if (id === "mode" && typeof value === "string") {
      this.setMode(value);
      return id;
    }
    if (id === "model" && model && typeof value === "string" && this.#models().includes(value)) {
      await model.choose(value);
      return id;
    }
    if (id === "effort" && effort && typeof value === "string" && this.#efforts().includes(value)) {
      effort.choose(value);
      return id;
    }
    throw invalidParams(`there is no option "${id}" with this value`);
  }

  setMode(id: string): void {
    const { available } = this.#modes;
    if (!available.some((mode) => mode.id === id)) {
      const known = available.map((mode) => mode.id).join(", ");
      throw invalidParams(`there is no mode "${id}"; there are: ${known}`);
    }
    this.#modes.choose(id);
  }

  /** Restores the choices of a stored session. Resolves to those that could not be restored. */
  async restore({ mode, model, effort }: SessionChoices): Promise<string[]> {
    const problems: string[] = [];
    const attempt = async (what: string, value: string | undefined, set: (one: string) => unknown) => {
      if (value === undefined) return;
      try {
        await set(value);
      } catch (error) {
        problems.push(
          `The ${what} "${value}" of this session cannot be restored: ${(error as Error).message}`,
        );
      }
    };
    await attempt("mode", mode, (one) => this.setMode(one));
    // The server may not have listed its models yet: the host refuses a model that does not exist.
    await attempt("model", model, (one) => this.#host.model?.choose(one));
    await attempt("effort", effort, (one) =>
      this.#efforts().includes(one) ? this.set("effort", one) : undefined,
    );
    return problems;
  }

  /** Asks the server for its models. Resolves to whether there are more than before. */
  async listModels(signal: AbortSignal): Promise<boolean> {
    const before = this.#models().length;
    this.#listed = (await this.#host.model?.list?.(signal).catch(() => undefined)) ?? [];
    return this.#models().length > before;
  }

  #models(): string[] {
    const { model } = this.#host;
    return model ? [...new Set([model.current, ...model.available, ...this.#listed])] : [];
  }

  #efforts(): string[] {
    const { effort } = this.#host;
    return effort && effort.available.length > 0 ? [...new Set([effort.current, ...effort.available])] : [];
  }
}

function select(
  id: OptionId,
  name: string,
  category: string,
  currentValue: string,
  options: { readonly value: string; readonly name: string; readonly description?: string }[],
): SessionConfigOption {
  return { type: "select", id, name, category, currentValue, options };
}
