/** The size and the pen of a terminal. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}
