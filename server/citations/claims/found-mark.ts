/** A citation mark as it stands in a flow, before anyone looks for the work. One mark cites one work. */
export interface FoundMark {
  kind: MarkKind;
  /** Range in the flow's text. Marks of one bracket share it where they cannot be told apart: [1–3]. */
  from: number;
  to: number;
  cites: Cited;
  /** "S. 12", "p. 4": where in the work. */
  locator: string | null;
}

export type MarkKind = 'author_year' | 'number' | 'label' | 'footnote';

export type Cited =
  | { by: 'author_year'; names: string[]; /** Where each name begins in the flow. */ starts: number[]; etAl: boolean; year: number; suffix: string; /** Seen without brackets, so only a known work makes it a mark. */ bare: boolean }
  | { by: 'label'; label: string }
  | { by: 'note'; text: string };

/** Something that looks like a mark and is none; kept so that the report can say what was passed over. */
export interface Lookalike {
  reason: 'subscript' | 'interval' | 'program_output' | 'label_not_in_bibliography' | 'bibliography_not_labelled' | 'footnote_without_citation' | 'no_author' | 'unknown_bare_name';
  from: number;
  to: number;
}
