/**
 * Announcements this process has dealt with. The same intent is announced by hint, by doorbell and by sweeper;
 * asking the database each time would cost more than the work itself. Forgetting is harmless: the claim decides.
 */
export class Seen {
  private young = new Set<string>();
  private old = new Set<string>();

  constructor(private readonly size: number) {}

  /** True the first time. */
  first(announcement: string): boolean {
    if (this.has(announcement)) return false;
    if (this.young.size >= this.size) {
      this.old = this.young;
      this.young = new Set();
    }
    this.young.add(announcement);
    return true;
  }

  has(announcement: string): boolean {
    return this.young.has(announcement) || this.old.has(announcement);
  }

  /** The announcement was not dealt with after all. */
  forget(announcement: string): void {
    this.young.delete(announcement);
    this.old.delete(announcement);
  }
}
