/** A terminal to draw on: its size and a write function. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** Reads the size anew. If it has changed, those who listen for a new size are told before this returns. */
  refreshSize(): void;
}
