/** The longest wait a timer can hold, in milliseconds. Node fires one that is longer at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
