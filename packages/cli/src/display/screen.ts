/** A terminal to draw on: its size and a write function. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}
