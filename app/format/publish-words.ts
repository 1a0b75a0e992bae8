/** By what a publish was asked for. */
export function askerWords(requestedBy: string): string {
  return { button: 'publish button', tab: 'another tab', agent: 'agent' }[requestedBy] ?? requestedBy;
}

/** Why a publish was refused, in a few words. */
export function refusalWords(code: string): string {
  return {
    publish_in_progress: 'another publish had the lock', slug_fixed: 'under another name than its own', slug_taken: 'the name is taken', queue_paused: 'publishing was paused',
  }[code] ?? code.replaceAll('_', ' ');
}
