/** Whether this role sees text of theses, references and sources. Whoever is not named here does not. */
export function mayReadText(role: string): boolean {
  return role === 'operator' || role === 'admin';
}
