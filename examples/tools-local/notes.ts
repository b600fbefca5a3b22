import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, cannotTell, defineTool, NotExecuted, present, type ToolQuestion } from 'intendant/tool';

interface Note {
  readonly room: number;
  readonly text: string;
}

interface Receipt {
  readonly note_id: string;
  readonly created: string;
}

/** A folder stands for the database; a sandbox call gets a folder of its own. */
function fileOf({ key, sandbox }: ToolQuestion<Note>): { folder: string; file: string } {
  const folder = join(process.env['NOTES_DIR'] ?? '.intendant/notes', sandbox ? 'sandbox' : 'real');
  return { folder, file: join(folder, `${key}.json`) };
}

async function read(file: string): Promise<Receipt> {
  const { note_id, created } = JSON.parse(await readFile(file, 'utf8')) as Receipt;
  return { note_id, created };
}

export default defineTool<Note, Receipt>({
  async execute(call, { signal }) {
    const { folder, file } = fileOf(call);
    await mkdir(folder, { recursive: true }).catch((error: unknown) => {
      // Nothing was written yet: this much is certain.
      throw new NotExecuted(`no folder for notes: ${String(error)}`, { transient: true });
    });
    const receipt = { note_id: call.key.slice(0, 12), created: new Date().toISOString() };
    try {
      // Fails when the file is there: two attempts with one key make one note.
      await writeFile(file, JSON.stringify({ ...receipt, ...call.args }), { flag: 'wx', signal });
      return receipt;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return read(file);
      // Whatever else: it may have been written. What is thrown leaves the outcome unknown.
      throw error;
    }
  },

  async lookup(question) {
    const { file } = fileOf(question);
    try {
      return present(await read(file));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' ? absent() : cannotTell(`the note cannot be read: ${String(error)}`);
    }
  },
});
