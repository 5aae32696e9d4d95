"""What an export contains besides the program: the runtime, an image, manifests for Kubernetes."""
