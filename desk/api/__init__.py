"""What the interfaces for programs of all rooms are made of; the rooms say whose rows, which shapes and who may."""
