import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { ModeChoice, ModelChoice } from "./host.js";
import { invalidParams } from "./requestErrors.js";

const MODEL = "model";
const MODE = "mode";

/** The settings of a session: the model, and the mode for editors that know only config options. */
export class ConfigOptions {
  readonly #modes: ModeChoice;
  readonly #model: ModelChoice | undefined;
  #listed: readonly string[] = [];

  constructor(modes: ModeChoice, model: ModelChoice | undefined) {
    this.#modes = modes;
    this.#model = model;
  }

  get modeState(): SessionModeState {
    const { current, available } = this.#modes;
    return { currentModeId: current, availableModes: available.map((mode) => ({ ...mode })) };
  }

  list(): SessionConfigOption[] {
    const { current, available } = this.#modes;
    const models = this.#models();
    const options: SessionConfigOption[] = [
      {
        type: "select",
        id: MODE,
        name: "Mode",
        category: "mode",
        currentValue: current,
        options: available.map(({ id, name, description }) => ({ value: id, name, description })),
      },
    ];
    if (!this.#model) return options;
    return [
      {
        type: "select",
        id: MODEL,
        name: "Model",
        category: "model",
        currentValue: this.#model.current,
        options: models.map((value) => ({ value, name: value })),
      },
      ...options,
    ];
  }

  /** Throws for an unknown option or value. Resolves to the option that was set. */
  async set(id: string, value: unknown): Promise<"mode" | "model"> {
    if (id === MODE && typeof value === "string") {
      this.setMode(value);
      return MODE;
    }
    if (id !== MODEL || !this.#model || typeof value !== "string" || !this.#models().includes(value)) {
      throw invalidParams(`there is no option "${id}" with this value`);
    }
    await this.#model.choose(value);
    return MODEL;
  }

  setMode(id: string): void {
    const { available } = this.#modes;
    if (!available.some((mode) => mode.id === id)) {
      const known = available.map((mode) => mode.id).join(", ");
      throw invalidParams(`there is no mode "${id}"; there are: ${known}`);
    }
    this.#modes.choose(id);
  }

  /** Asks the server for its models. Resolves to whether there are more than before. */
  async listModels(signal: AbortSignal): Promise<boolean> {
    const before = this.#models().length;
    this.#listed = (await this.#model?.list?.(signal).catch(() => undefined)) ?? [];
    return this.#models().length > before;
  }

  #models(): string[] {
    if (!this.#model) return [];
    return [...new Set([this.#model.current, ...this.#model.available, ...this.#listed])];
  }
}
