package dev.millrace.connectors.parquet;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Util;

/** An open file and what its end says of it. Nothing of what it says is taken for granted: places are held to the file. Owned by one thread. */
final class ParquetFile implements AutoCloseable {
    private static final byte[] MAGIC = {'P', 'A', 'R', '1'};
    private static final byte[] ENCRYPTED = {'P', 'A', 'R', 'E'};
    private static final int FRAME_BYTES = 8; // the length of the metadata, and the magic
    private static final int LARGEST_METADATA = 256 << 20;
    private static final int FIRST_HEADER = 256;
    private static final int LARGEST_HEADER = 16 << 20;

    private final Path path;
    private final FileChannel channel;
    private final long size;
    private final SchemaNode schema;
    private final List<SchemaNode> leaves;
    private final List<RowGroup> groups;

    /** @param end where in the file its bytes end */
    record Header(PageHeader page, long end) {}

    private ParquetFile(Path path, FileChannel channel) throws IOException {
        this.path = path;
        this.channel = channel;
        this.size = channel.size();
        FileMetaData metadata = metadata();
        this.schema = SchemaNode.root(metadata.getSchema());
        this.leaves = schema.leaves();
        this.groups = metadata.getRow_groups();
        for (RowGroup group : groups) {
            check(group);
        }
    }

    /**
     * Opens a file.
     *
     * @throws MillraceException 58030 if it cannot be read, 22P04 if it is none of Parquet
     */
    static ParquetFile open(Path path) {
        FileChannel channel;
        try {
            channel = FileChannel.open(path);
        } catch (IOException e) {
            throw FileErrors.opening(path, "for reading", e);
        }
        try {
            return new ParquetFile(path, channel);
        } catch (IOException e) {
            closed(channel);
            throw failure(path, e);
        } catch (RuntimeException | Error e) {
            closed(channel);
            throw e;
        }
    }

    private static void closed(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // what had it closed is thrown
        }
    }

    /** What the library makes of bytes that were looked at before. */
    private interface Reading<T> {
        T read() throws IOException;
    }

    private static <T> T understood(Reading<T> reading) throws ParquetDamage {
        try {
            return reading.read();
        } catch (IOException | RuntimeException e) { // of memory: it is about what the bytes say
            throw new ParquetDamage("its metadata makes no sense: " + e.getMessage());
        }
    }

    /** The error for a file that cannot be read on. */
    static MillraceException failure(Path path, IOException e) {
        return e instanceof ParquetDamage
                ? MillraceException.user(
                        SqlState.BAD_COPY_FILE_FORMAT,
                        "file \"" + path + "\" is no Parquet file, or a damaged one: " + e.getMessage())
                : FileErrors.reading(path, e);
    }

    private FileMetaData metadata() throws IOException {
        ParquetDamage.check(size >= MAGIC.length + FRAME_BYTES, "it has " + size + " bytes");
        ByteBuffer frame = bytes(size - FRAME_BYTES, FRAME_BYTES);
        ByteBuffer begin = bytes(0, MAGIC.length);
        ByteBuffer end = frame.slice(4, 4);
        ParquetDamage.check(!end.equals(ByteBuffer.wrap(ENCRYPTED)), "its metadata is encrypted");
        ParquetDamage.check(
                begin.equals(ByteBuffer.wrap(MAGIC)) && end.equals(ByteBuffer.wrap(MAGIC)), "PAR1 is not at both ends");
        long length = frame.order(ByteOrder.LITTLE_ENDIAN).getInt(0) & 0xffffffffL;
        ParquetDamage.check(
                length <= size - FRAME_BYTES - MAGIC.length && length <= LARGEST_METADATA,
                "metadata of " + length + " bytes");
        byte[] metadata = bytes(size - FRAME_BYTES - length, (int) length).array();
        ParquetDamage.check(
                CompactThrift.length(metadata, metadata.length) != CompactThrift.GOES_ON, "its metadata is cut off");
        FileMetaData read = understood(() -> Util.readFileMetaData(new ByteArrayInputStream(metadata)));
        ParquetDamage.check(!read.isSetEncryption_algorithm(), "its columns are encrypted");
        return read;
    }

    private ByteBuffer bytes(long from, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        read(from, bytes);
        return bytes.flip();
    }

    private void check(RowGroup group) throws ParquetDamage {
        ParquetDamage.check(
                group.getNum_rows() >= 0
                        && group.getNum_rows() <= Integer.MAX_VALUE
                        && group.getColumnsSize() == leaves.size(),
                "a row group of other columns");
        for (int i = 0; i < leaves.size(); i++) {
            ColumnChunk chunk = group.getColumns().get(i);
            ParquetDamage.check(!chunk.isSetFile_path(), "a column is in another file");
            ColumnMetaData metadata = chunk.getMeta_data();
            ParquetDamage.check(
                    metadata != null && metadata.getCodec() != null, "a column without metadata, or of no known codec");
            boolean isFlat = leaves.get(i).repetitions() == 0;
            ParquetDamage.check(
                    metadata.getType() == leaves.get(i).leaf().orElseThrow().physical()
                            && (isFlat
                                    ? metadata.getNum_values() == group.getNum_rows()
                                    : metadata.getNum_values() >= group.getNum_rows()),
                    "a column of another type or number of values");
            long from = metadata.isSetDictionary_page_offset() && metadata.getDictionary_page_offset() > 0
                    ? Math.min(metadata.getDictionary_page_offset(), metadata.getData_page_offset())
                    : metadata.getData_page_offset();
            long length = metadata.getTotal_compressed_size();
            ParquetDamage.check(
                    from >= MAGIC.length && length >= 0 && from <= size && length <= size - from,
                    "a column out of the file");
        }
    }

    Path path() {
        return path;
    }

    long size() {
        return size;
    }

    SchemaNode schema() {
        return schema;
    }

    List<SchemaNode> leaves() {
        return leaves;
    }

    List<RowGroup> groups() {
        return groups;
    }

    /** Reads bytes of the file, as many as there is room for. */
    void read(long from, ByteBuffer into) throws IOException {
        long at = from;
        while (into.hasRemaining()) {
            int read = channel.read(into, at);
            ParquetDamage.check(read >= 0, "it ends early");
            at += read;
        }
    }

    /** The header of the page that begins at a place, and ends before {@code limit}. */
    Header pageHeader(long from, long limit) throws IOException {
        int wanted = FIRST_HEADER;
        while (true) {
            int length = (int) Math.min(wanted, limit - from);
            ParquetDamage.check(length > 0, "a column has fewer pages than it says");
            byte[] bytes = bytes(from, length).array();
            int header = CompactThrift.length(bytes, length);
            if (header != CompactThrift.GOES_ON) {
                PageHeader page = understood(() -> Util.readPageHeader(new ByteArrayInputStream(bytes, 0, header)));
                ParquetDamage.check(page.getType() != null, "a page of no known type");
                return new Header(page, from + header);
            }
            ParquetDamage.check(length == wanted && wanted < LARGEST_HEADER, "the header of a page does not end");
            wanted *= 8;
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw FileErrors.reading(path, e);
        }
    }
}
