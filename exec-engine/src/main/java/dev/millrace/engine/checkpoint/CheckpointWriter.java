package dev.millrace.engine.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Where a checkpoint goes: sections, one after another. Called by the thread that asked for the checkpoint, and by no other.
 * What was written is of use only when {@code Engine.checkpoint} has returned; if that throws, whoever made the writer discards it.
 */
public interface CheckpointWriter {
    /**
     * Asked before a section is begun whose contents are known before they are written: whether it need not be, since a checkpoint
     * that is kept has it with just these contents, and this one has it from there. If not, it is begun and written next.
     */
    boolean keep(SectionContents contents) throws IOException;

    /** Whether {@link #keep} would answer with yes, until this checkpoint is finished. Changes nothing. */
    boolean has(SectionContents contents);

    /** Begins a section and ends the one before. Each name comes once. */
    void begin(String section) throws IOException;

    /** Appends to the section begun last; the bytes are the caller's again when this returns. May wait for a disk. */
    void write(ByteBuffer bytes) throws IOException;
}
