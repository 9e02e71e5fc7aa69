package dev.millrace.edge.input;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/**
 * The lines of a file, and what is added to it while it is followed. A file that takes its name is read from its beginning, when the one
 * before is read to its end; one that has become shorter is read anew. The place is the file and the offset behind the last whole line.
 */
final class TailedFile implements Input {
    private static final int READ_BYTES = 64 << 10;

    private final Path path;
    private final boolean follow;
    private final boolean header;
    private final int mostBytes;
    private final byte[] bytes = new byte[READ_BYTES];
    private Optional<FileChannel> channel = Optional.empty();
    private String identity = "";
    private long offset; // behind what was read
    private long lineOffset; // behind the last whole line
    private LineChunks cut;
    private long tooLongBefore;
    private boolean skip; // the header is to come
    private boolean finished;
    private Optional<String> problem = Optional.empty();

    /** @param place where an earlier one was */
    TailedFile(Path path, boolean follow, boolean header, int mostBytes, Optional<String> place) {
        this.path = path;
        this.follow = follow;
        this.header = header;
        this.mostBytes = mostBytes;
        this.cut = new LineChunks(mostBytes);
        place.ifPresent(this::goTo);
    }

    private void goTo(String place) {
        int space = place.lastIndexOf(' ');
        try {
            long there = Long.parseLong(place.substring(space + 1));
            String of = place.substring(0, Math.max(0, space));
            if (of.equals(identityOf(path)) && Files.size(path) >= there) {
                open();
                offset = there;
                lineOffset = there;
                skip = header && there == 0;
            }
        } catch (NumberFormatException | IOException e) {
            problem = Optional.of("it is read from its beginning: " + e.getMessage());
        }
    }

    private static String identityOf(Path path) throws IOException {
        Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        return String.valueOf(key).replace(' ', '_');
    }

    private void open() throws IOException {
        channel = Optional.of(FileChannel.open(path, StandardOpenOption.READ));
        identity = identityOf(path);
        offset = 0;
        lineOffset = 0;
        skip = header;
        tooLongBefore += cut.tooLong();
        cut = new LineChunks(mostBytes);
    }

    @Override
    public boolean poll(LineMemory into) {
        try {
            if (channel.isEmpty()) {
                open();
            }
            int read = channel.get().read(ByteBuffer.wrap(bytes), offset);
            problem = Optional.empty();
            return read > 0 ? took(read, into) : atEnd(into);
        } catch (NoSuchFileException e) {
            problem = Optional.of(path + " is not there");
            finished = !follow;
            return false;
        } catch (IOException e) {
            problem = Optional.of(path + ": " + e.getMessage());
            return false;
        }
    }

    private boolean took(int read, LineMemory into) {
        offset += read;
        byte[] lines = cut.whole(bytes, read);
        if (!cut.isPassingOver()) {
            lineOffset = offset - cut.restBytes();
        }
        if (skip && lines.length > 0) {
            lines = Header.without(lines);
            skip = false;
        }
        into.add(lines, 0, lines.length);
        return true;
    }

    private boolean atEnd(LineMemory into) throws IOException {
        if (!follow) {
            byte[] last = cut.rest();
            into.add(last, 0, skip ? 0 : last.length);
            lineOffset = offset;
            finished = true;
            return last.length > 0;
        }
        boolean another = Files.exists(path) && !identityOf(path).equals(identity);
        if (another || channel.get().size() < offset) {
            byte[] last = another ? cut.rest() : new byte[0]; // nobody adds to it any more
            into.add(last, 0, last.length);
            channel.get().close();
            open();
            return true;
        }
        return false;
    }

    @Override
    public Optional<String> place() {
        return identity.isEmpty() ? Optional.empty() : Optional.of(identity + " " + lineOffset);
    }

    @Override
    public boolean isFinished() {
        return finished;
    }

    @Override
    public long tooLong() {
        return tooLongBefore + cut.tooLong();
    }

    @Override
    public Optional<String> problem() {
        return problem;
    }

    @Override
    public void close() {
        try {
            if (channel.isPresent()) {
                channel.get().close();
            }
        } catch (IOException e) {
            problem = Optional.of(String.valueOf(e.getMessage())); // nobody looks any more
        }
    }
}
