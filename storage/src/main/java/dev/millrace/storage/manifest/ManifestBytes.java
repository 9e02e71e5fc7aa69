package dev.millrace.storage.manifest;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.WholeFile;
import dev.millrace.storage.snapshot.SnapshotFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/** The bytes of a manifest, as the package describes them. */
final class ManifestBytes {
    static final int VERSION = 1;
    private static final byte[] MAGIC = "MrManife".getBytes(StandardCharsets.US_ASCII);
    private static final int MOST = 64 << 20;
    private static final int CHECKED_FROM = 16;
    private static final int HEADER = 36;
    private static final int FILE = 14;

    private ManifestBytes() {}

    static ByteBuffer write(Checkpoint checkpoint) {
        List<byte[]> names = checkpoint.files().stream()
                .map(file -> file.name().getBytes(StandardCharsets.UTF_8))
                .toList();
        int length =
                HEADER + names.stream().mapToInt(name -> FILE + name.length).sum();
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(MAGIC).putInt(VERSION).putInt(0);
        bytes.putLong(checkpoint.number()).putLong(checkpoint.logNumber()).putInt(names.size());
        for (int i = 0; i < names.size(); i++) {
            SnapshotFile file = checkpoint.files().get(i);
            bytes.putLong(file.bytes()).putInt(file.checksum());
            bytes.putShort((short) names.get(i).length).put(names.get(i));
        }
        return bytes.putInt(12, crc(bytes)).flip();
    }

    static Checkpoint read(Disk disk, String name) throws IOException {
        String path = disk.path(name);
        ByteBuffer bytes = WholeFile.read(disk, name, MOST).order(ByteOrder.LITTLE_ENDIAN);
        hold(bytes.limit() >= HEADER, path, bytes.limit(), "it ends there");
        hold(Arrays.equals(MAGIC, 0, 8, bytes.array(), 0, 8), path, 0, "it is no manifest");
        int version = bytes.getInt(8);
        if (version > VERSION && version <= VERSION + 1000) {
            throw DiskErrors.tooNew(path, version, VERSION);
        }
        hold(version == VERSION, path, 8, "there is no format version " + version);
        hold(bytes.getInt(12) == crc(bytes), path, CHECKED_FROM, "its checksum does not fit");
        bytes.position(CHECKED_FROM);
        long number = bytes.getLong();
        long logNumber = bytes.getLong();
        int count = bytes.getInt();
        List<SnapshotFile> files = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            files.add(readFile(bytes, path));
        }
        hold(!bytes.hasRemaining(), path, bytes.position(), "more follows than its files");
        return new Checkpoint(number, logNumber, files);
    }

    private static SnapshotFile readFile(ByteBuffer bytes, String path) {
        hold(bytes.remaining() >= FILE, path, bytes.position(), "it ends within its files");
        long length = bytes.getLong();
        int checksum = bytes.getInt();
        int nameBytes = bytes.getShort() & 0xFFFF;
        hold(bytes.remaining() >= nameBytes, path, bytes.position(), "it ends within its files");
        ByteBuffer name = bytes.slice(bytes.position(), nameBytes);
        bytes.position(bytes.position() + nameBytes);
        try {
            return new SnapshotFile(
                    StandardCharsets.UTF_8.newDecoder().decode(name).toString(), length, checksum);
        } catch (CharacterCodingException e) {
            throw DiskErrors.damaged(path, bytes.position(), "the name of a file is no UTF-8");
        }
    }

    private static void hold(boolean holds, String path, long at, String what) {
        if (!holds) {
            throw DiskErrors.damaged(path, at, what);
        }
    }

    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), CHECKED_FROM, bytes.limit() - CHECKED_FROM);
        return (int) crc.getValue();
    }
}
