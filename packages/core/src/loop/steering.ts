import { type Content, wellFormed } from "../conversation/content.js";

/** The queue of messages given to `steer`. The loop takes them between two model requests. */
export class SteeringQueue {
  #waiting: Content[] = [];
  #isOpen = false;

  open(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Returns whether the message will be delivered. After the last answer it will not. */
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
