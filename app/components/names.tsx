/** Names from outside are text and nothing else: isolated, so that a right-to-left one cannot reorder its neighbours, and cut with the whole on hover. */
export function OutsideName({ name, width = '25ch' }: { name: string; width?: string }) {
  return <bdi className="clip inline-block align-bottom" style={{ maxWidth: width }} title={name}>{name}</bdi>;
}

/** The head of a UUIDv7 is the time; the tail tells rows apart. */
export function ShortId({ id }: { id: string }) {
  return <span className="mono" title={id}>…{id.slice(-8)}</span>;
}

/** Ids given by a product backend: any text, often long. */
export function OutsideId({ id, width = '10ch' }: { id: string; width?: string }) {
  return <bdi className="mono clip inline-block align-bottom" style={{ maxWidth: width }} title={id}>{id}</bdi>;
}
