import { type Content, wellFormed } from "../conversation/content.js";

/** Messages a person gave while the agent works, until the loop takes them between two requests to the model. */
export class SteeringQueue {
  #waiting: Content[] = [];

  add(content: Content): void {
    this.#waiting.push(wellFormed(content));
  }

  take(): readonly Content[] {
    const taken = this.#waiting;
    if (taken.length > 0) this.#waiting = [];
    return taken;
  }
}
