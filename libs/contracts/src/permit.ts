/** Whether a session may call a tool; `reason` completes a sentence for the caller. */
export type Permit = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };
