/** A list's address may ask for more than its filters know: what of it had no effect, as names and values. `understood`: the query of the filters that have. */
export function leftOut(asked: URLSearchParams, understood: string): [string, string][] {
  const known = new URLSearchParams(understood);
  return [...asked].flatMap(([name, value]): [string, string][] => {
    const taken = known.get(name)?.split(',') ?? [];
    const rest = name === 'state' || taken.length === 0 ? value.split(',').filter((part) => part.trim() !== '' && !taken.includes(part)) : [];
    return rest.length === 0 ? [] : [[name, rest.join(',')]];
  });
}

/** The address of what is understood, and of what is not, so that the page can say so. */
export function withLeftOut(path: string, asked: URLSearchParams): string {
  const [, understood = ''] = path.split('?');
  const rest = new URLSearchParams(leftOut(asked, understood)).toString();
  return rest === '' ? path : `${path}${understood === '' ? '?' : '&'}${rest}`;
}
