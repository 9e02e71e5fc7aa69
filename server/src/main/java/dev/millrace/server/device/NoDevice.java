package dev.millrace.server.device;

/** Who has no connection: what the stream tells itself. */
record NoDevice() implements DeviceSession {
    @Override
    public String device() {
        return "";
    }

    @Override
    public long identity() {
        return 0;
    }

    @Override
    public void opened(long acknowledged) {}

    @Override
    public void waitsFor(String what) {}

    @Override
    public void acknowledged(long upTo) {}

    @Override
    public void needVersions() {}

    @Override
    public void set(long number, String text) {}

    @Override
    public void room() {}
}
