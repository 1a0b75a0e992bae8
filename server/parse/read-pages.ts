/** The pdf.js side; runs in the child only. */
import path from 'node:path';
import { createRequire } from 'node:module';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PageText, RefusalCode } from './extraction.js';
import { layOut, type TextItem } from './layout.js';
import { statsOf } from './quality.js';

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
      verbosity: 0,
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
export async function* readPages(document: PDFDocumentProxy, maxChars: number): AsyncGenerator<PageText> {
  let left = maxChars;
  let pictureSeen = false;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await readPage(document, number, left, !pictureSeen);
    left -= page.text.length;
    pictureSeen ||= page.picture === true;
    yield page;
  }
}

async function readPage(document: PDFDocumentProxy, number: number, maxChars: number, lookForPictures: boolean): Promise<PageText> {
  try {
    const page = await document.getPage(number);
    const text = layOut(await readItems(page, maxChars));
    const stats = statsOf(text);
    // One picture decides the document's quality; the others need no second look.
    const picture = stats.letters === 0 && lookForPictures ? await showsPicture(page) : false;
    page.cleanup();
    return { page: number, text, stats, picture };
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

/** Images are not decoded (maxImageSize), so a scan is known by the unit square that was blown up to hold it. */
async function showsPicture(page: PDFPageProxy): Promise<boolean> {
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const { fnArray, argsArray } = await page.getOperatorList();
  const paths = fnArray.filter((fn) => fn === OPS.constructPath).length;
  return paths > 50 || fnArray.some((fn, i) => fn === OPS.transform && isLarge(argsArray[i]));
}

function isLarge(matrix: unknown): boolean {
  const [a = 0, b = 0, c = 0, d = 0] = Array.from(matrix as ArrayLike<number>);
  return Math.hypot(a, b) > 100 && Math.hypot(c, d) > 100;
}

function isOutOfMemory(error: unknown): boolean {
  return /array buffer allocation failed|invalid array (buffer )?length|invalid typed array length|invalid string length/i.test(messageOf(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
