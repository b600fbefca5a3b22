/** When a dispatcher began to write the request of an attempt, by its own library and the true time. */
export interface SentEntry {
  readonly attemptId: string;
  readonly at: number;
}
