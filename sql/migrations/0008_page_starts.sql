-- Where each page begins in a document's text, so that evidence names the very page it stands on. Null in documents from before.
alter table documents add column page_starts integer[];
