/** A terminal to draw on: its size and a write function. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** Reads the size again. If it has changed, the listeners for a new size are called before this returns. */
  refreshSize(): void;
}
