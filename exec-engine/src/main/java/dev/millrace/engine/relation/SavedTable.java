package dev.millrace.engine.relation;

import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.SectionContents;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.ViewScan;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Rows that are kept, as of the version at which a checkpoint was cut: pinned then, written later.
 *
 * <p>Part {@code rows} of the section: the columns' types as text, then the rows as {@link ViewScan#save} writes them.
 */
public final class SavedTable implements AutoCloseable {
    private static final String ROWS = "rows";

    private final VersionedView view;
    private final ViewScan scan;
    private final OptionalLong contents;

    /** Of what is current in the view. */
    public SavedTable(VersionedView view) {
        this.view = view;
        this.scan = view.scanToSave();
        this.contents = view.contents(scan);
    }

    /** With nothing else in a section. */
    public Barrier.Later in(String section) {
        return new Barrier.Later() {
            @Override
            public Optional<SectionContents> contents() {
                return contents.isPresent()
                        ? Optional.of(new SectionContents(section, contents.getAsLong()))
                        : Optional.empty();
            }

            @Override
            public void write(Barrier barrier, Runnable sometimes) throws IOException {
                try (SectionOutput output = barrier.section(section)) {
                    SavedTable.this.write(output, sometimes);
                    output.finish();
                }
            }

            @Override
            public void close() {
                SavedTable.this.close();
            }
        };
    }

    /**
     * Writes the rows as a part of a section.
     *
     * @param sometimes called between some rows
     */
    public void write(SectionOutput output, Runnable sometimes) throws IOException {
        DataOutput rows = output.part(ROWS);
        rows.writeUTF(types(view.schema()));
        scan.save(rows, sometimes);
    }

    /** Fills a view that nobody has yet; false, and it is empty, if there is no such section. */
    public static boolean restore(SavedSections saved, String section, VersionedView view) {
        return saved.read(section, part -> {
            if (part.name().equals(ROWS)) {
                restore(section, part.part(), view);
            }
        });
    }

    /** The same of a section that has other parts, too, of any version. */
    public static void restoreAmong(SavedSections saved, String section, VersionedView view) {
        saved.read(section, ROWS, part -> restore(section, part.part(), view));
    }

    private static void restore(String section, DataInput in, VersionedView view) throws IOException {
        String types = in.readUTF();
        if (!types.equals(types(view.schema()))) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "\"" + section + "\" of the checkpoint has columns of the types " + types + ", here they are "
                            + types(view.schema()));
        }
        view.restore(in);
    }

    private static String types(Schema schema) {
        return schema.fields().stream()
                .map(field -> field.type().toString())
                .toList()
                .toString();
    }

    @Override
    public void close() {
        scan.close();
    }
}
