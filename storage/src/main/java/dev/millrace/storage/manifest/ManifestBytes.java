package dev.millrace.storage.manifest;

import dev.millrace.storage.disk.CheckedFormat;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.snapshot.SnapshotFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The bytes of a manifest, as the package describes them. */
final class ManifestBytes {
    static final int VERSION = 1;
    private static final CheckedFormat FORMAT = new CheckedFormat("MrManife", VERSION, "manifest");
    private static final int MOST = 64 << 20;
    private static final int HEADER = 36;
    private static final int FILE = 14;

    private ManifestBytes() {}

    static ByteBuffer write(Checkpoint checkpoint) {
        List<byte[]> names = checkpoint.files().stream()
                .map(file -> file.name().getBytes(StandardCharsets.UTF_8))
                .toList();
        int length =
                HEADER + names.stream().mapToInt(name -> FILE + name.length).sum();
        ByteBuffer bytes = FORMAT.begin(length);
        bytes.putLong(checkpoint.number()).putLong(checkpoint.logNumber()).putInt(names.size());
        for (int i = 0; i < names.size(); i++) {
            SnapshotFile file = checkpoint.files().get(i);
            bytes.putLong(file.bytes()).putInt(file.checksum());
            bytes.putShort((short) names.get(i).length).put(names.get(i));
        }
        return FORMAT.end(bytes);
    }

    static Checkpoint read(Disk disk, String name) throws IOException {
        String path = disk.path(name);
        ByteBuffer bytes = FORMAT.read(disk, name, HEADER, MOST);
        long number = bytes.getLong();
        long logNumber = bytes.getLong();
        int count = bytes.getInt();
        List<SnapshotFile> files = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            files.add(readFile(bytes, path));
        }
        DiskErrors.require(!bytes.hasRemaining(), path, bytes.position(), "more follows than its files");
        return new Checkpoint(number, logNumber, files);
    }

    private static SnapshotFile readFile(ByteBuffer bytes, String path) {
        DiskErrors.require(bytes.remaining() >= FILE, path, bytes.position(), "it ends within its files");
        long length = bytes.getLong();
        int checksum = bytes.getInt();
        int nameBytes = bytes.getShort() & 0xFFFF;
        DiskErrors.require(bytes.remaining() >= nameBytes, path, bytes.position(), "it ends within its files");
        ByteBuffer name = bytes.slice(bytes.position(), nameBytes);
        bytes.position(bytes.position() + nameBytes);
        try {
            return new SnapshotFile(
                    StandardCharsets.UTF_8.newDecoder().decode(name).toString(), length, checksum);
        } catch (CharacterCodingException e) {
            throw DiskErrors.damaged(path, bytes.position(), "the name of a file is no UTF-8");
        }
    }
}
