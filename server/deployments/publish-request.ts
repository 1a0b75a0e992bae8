/** One request to publish an app, checked and cleaned. */
export interface PublishRequest {
  projectId: string;
  /** Normalised (slug.ts). */
  slug: string;
  userId: string;
  requestedBy: 'button' | 'tab' | 'agent';
  /** What the caller says it is: a tab's id, an agent's name. */
  source: string | null;
}
