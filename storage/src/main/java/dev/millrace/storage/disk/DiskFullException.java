package dev.millrace.storage.disk;

import java.io.IOException;

/** No room is left on the disk, or none that this owner may have. */
public final class DiskFullException extends IOException {
    private static final long serialVersionUID = 1L;

    public DiskFullException(String message, Throwable cause) {
        super(message, cause);
    }

    public DiskFullException(String message) {
        super(message);
    }
}
