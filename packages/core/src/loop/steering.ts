import { type Content, wellFormed } from "../conversation/content.js";

/** Messages a person gave while the agent works, until the loop takes them between two requests to the model. */
export class SteeringQueue {
  #waiting: Content[] = [];
  #isOpen = false;

  open(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Returns whether the message will be delivered: not once the last answer is there. */
  add(content: Content): boolean {
    if (this.#isOpen) this.#waiting.push(wellFormed(content));
    return this.#isOpen;
  }

  /** What has not been delivered. With `last`, closes the queue if there is nothing. */
  take({ last = false } = {}): readonly Content[] {
    if (last && this.#waiting.length === 0) this.close();
    return this.#waiting.splice(0);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }
}
