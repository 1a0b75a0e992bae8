/** The pdf.js side; runs in the child only. */
import path from 'node:path';
import { createRequire } from 'node:module';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PageText, RefusalCode } from './extraction.js';
import { layOut, type TextItem } from './layout.js';
import { statsOf } from './quality.js';
import type { Warnings } from './warnings.js';

const require = createRequire(import.meta.url);

/** A file that cannot be read at all. */
export class Refused extends Error {
  constructor(readonly code: RefusalCode, message: string) {
    super(message);
  }
}

/** Opens the file without a password, without evaluating code from it, without decoding one image. @throws Refused */
export async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const folder = path.dirname(require.resolve('pdfjs-dist/package.json'));
  const isPdf = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes('%PDF-');
  try {
    return await pdfjs.getDocument({
      data: bytes,
      verbosity: 1, // warnings: they tell a blank page from a lost one
      isEvalSupported: false,
      useSystemFonts: false,
      disableFontFace: true,
      maxImageSize: 1,
      cMapUrl: path.join(folder, 'cmaps/'),
      standardFontDataUrl: path.join(folder, 'standard_fonts/'),
      wasmUrl: path.join(folder, 'wasm/'),
    }).promise;
  } catch (error) {
    throw new Refused(openingFault(error, isPdf), messageOf(error));
  }
}

function openingFault(error: unknown, isPdf: boolean): RefusalCode {
  if (error instanceof Error && error.name === 'PasswordException') return 'password_required';
  if (isOutOfMemory(error)) return 'used_too_much_memory';
  return isPdf ? 'damaged_pdf' : 'not_a_pdf';
}

/** Every page in order; one that fails says why and does not stop the others. `maxChars` bounds their sum. @throws Refused */
export async function* readPages(document: PDFDocumentProxy, maxChars: number, warnings: Warnings): AsyncGenerator<PageText> {
  let left = maxChars;
  let known = false;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await readPage(document, number, left, warnings);
    // One incomplete page decides the document's quality; the others need no second look.
    if (page.stats.letters === 0 && page.error === undefined && !known) page.incomplete ||= await hidesSomething(document, number, warnings);
    known ||= page.incomplete === true;
    left -= page.text.length;
    yield page;
  }
}

async function readPage(document: PDFDocumentProxy, number: number, maxChars: number, warnings: Warnings): Promise<PageText> {
  warnings.clear();
  try {
    const page = await document.getPage(number);
    const text = layOut(await readItems(page, maxChars));
    page.cleanup();
    return { page: number, text, stats: statsOf(text), incomplete: warnings.brokeOff };
  } catch (error) {
    if (error instanceof Refused) throw error;
    if (isOutOfMemory(error)) throw new Refused('used_too_much_memory', messageOf(error));
    return { page: number, text: '', stats: statsOf(''), error: messageOf(error).slice(0, 200) };
  }
}

/** Streamed, so that one endless page is noticed while it grows. */
async function readItems(page: PDFPageProxy, maxChars: number): Promise<TextItem[]> {
  const items: TextItem[] = [];
  let chars = 0;
  const reader = page.streamTextContent().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    for (const item of part.value.items as TextItem[]) {
      if (typeof item.str !== 'string') continue;
      items.push(item);
      chars += item.str.length + 1;
    }
    if (chars > maxChars) throw new Refused('used_too_much_memory', 'The text is too long');
  }
  return items;
}

/** A page without letters is either blank, or shows a picture (left out, see maxImageSize), or is broken: the last two make pdf.js complain. */
async function hidesSomething(document: PDFDocumentProxy, number: number, warnings: Warnings): Promise<boolean> {
  try {
    const page = await document.getPage(number);
    await page.getOperatorList();
    page.cleanup();
    return warnings.any;
  } catch {
    return true;
  }
}

function isOutOfMemory(error: unknown): boolean {
  return /array buffer allocation failed|invalid array (buffer )?length|invalid typed array length|invalid string length/i.test(messageOf(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
