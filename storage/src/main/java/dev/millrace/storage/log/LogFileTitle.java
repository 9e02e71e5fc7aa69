package dev.millrace.storage.log;

import dev.millrace.storage.disk.DiskErrors;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** What the files of a log begin with. */
final class LogFileTitle {
    private LogFileTitle() {}

    /** Holds a file to its magic and version, in its first 12 bytes; F0000 for a later version, else XX001. */
    static void checkTitle(String path, ByteBuffer bytes, byte[] magic, int version) {
        byte[] found = new byte[magic.length];
        if (bytes.limit() < 16) {
            throw DiskErrors.damaged(path, bytes.limit(), "it ends there");
        }
        bytes.get(0, found);
        if (!Arrays.equals(found, magic)) {
            throw DiskErrors.damaged(path, 0, "it is no file of a log");
        }
        int written = bytes.getInt(magic.length);
        if (written > version && written <= version + 1000) {
            throw DiskErrors.tooNew(path, written, version);
        }
        if (written != version) {
            throw DiskErrors.damaged(path, magic.length, "there is no format version " + written);
        }
    }
}
